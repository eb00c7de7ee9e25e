"""Seeded bugs: mutants.txt and mutated copies of the RTL."""

import shutil


def read(path):
    """[(file, name, old, new)] of a file with lines of `device: name: old text => new text`."""
    found = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.strip() and not line.startswith("#"):
            device, name, change = (part.strip() for part in line.split(":", 2))
            old, new = (part.strip() for part in change.split(" => "))
            found.append((device, name, old, new))
    return found


def mutate(device, name, old, new, places, folder):
    """Copies the folders with sources to another one and makes the change there, which must fit exactly one place."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for place in places:
        for path in [*place.glob("*.sv*"), *place.glob("*.vhd")]:
            shutil.copy2(path, folder)
    file = next(path for path in folder.iterdir() if path.stem == device)
    text = file.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ValueError(f"{device}: {name}: `{old}` stands {text.count(old)} times in the file")
    file.write_text(text.replace(old, new), encoding="utf-8")
    return folder
