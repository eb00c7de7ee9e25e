"""Has slang, a second parser beside Verilator's, read the SystemVerilog that is written here: covergroups and bins too, which Verilator ignores.

    python3 testbenches/export/read_sv.py ARGUMENTS

Needs the package pyslang. The arguments are those of slang: files in their order, +incdir+, -F and so on. Classes are elaborated; any error
or warning ends it with status 1."""

import sys

from pyslang import ast, driver

compiler = driver.Driver()
compiler.addStandardArgs()
arguments = " ".join(f"\"{argument}\"" for argument in ["slang", *sys.argv[1:]])
if not (compiler.parseCommandLine(arguments, driver.CommandLineOptions()) and compiler.processOptions() and compiler.parseAllSources()):
    sys.exit("slang: found files that it does not take, expected SystemVerilog")
compilation = compiler.createCompilation()
compiler.reportCompilation(compilation, True)
is_right = compiler.reportDiagnostics(True)
found = compiler.diagEngine.numErrors + compiler.diagEngine.numWarnings
if found or not is_right:
    sys.exit(f"slang: found {found} errors and warnings, expected none")

points = []


def visit(symbol):
    if isinstance(symbol, ast.CoverpointSymbol):
        points.append(symbol)


compilation.getRoot().visit(visit)
print(f"slang: {len(compiler.syntaxTrees)} files, {len(points)} coverpoints")
