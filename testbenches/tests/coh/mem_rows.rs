//! The tables of CXL.mem, row by row: each obeyed and broken in the one way of its table.

use super::mem_bench::*;

rule_tests! { req_obeys, req_breaks:
    coh_mem_04_p coh_mem_04_n "COH-MEM-04"
    coh_mem_05_p coh_mem_05_n "COH-MEM-05"
    coh_mem_06_p coh_mem_06_n "COH-MEM-06"
    coh_mem_07_p coh_mem_07_n "COH-MEM-07"
    coh_mem_08_p coh_mem_08_n "COH-MEM-08"
    coh_mem_09_p coh_mem_09_n "COH-MEM-09"
    coh_mem_10_p coh_mem_10_n "COH-MEM-10"
    coh_mem_11_p coh_mem_11_n "COH-MEM-11"
    coh_mem_12_p coh_mem_12_n "COH-MEM-12"
    coh_mem_13_p coh_mem_13_n "COH-MEM-13"
    coh_mem_14_p coh_mem_14_n "COH-MEM-14"
    coh_mem_15_p coh_mem_15_n "COH-MEM-15"
    coh_mem_16_p coh_mem_16_n "COH-MEM-16"
    coh_mem_17_p coh_mem_17_n "COH-MEM-17"
    coh_mem_18_p coh_mem_18_n "COH-MEM-18"
    coh_mem_19_p coh_mem_19_n "COH-MEM-19"
    coh_mem_20_p coh_mem_20_n "COH-MEM-20"
}

rule_tests! { write_obeys, write_breaks:
    coh_mem_21_p coh_mem_21_n "COH-MEM-21"
    coh_mem_22_p coh_mem_22_n "COH-MEM-22"
    coh_mem_23_p coh_mem_23_n "COH-MEM-23"
    coh_mem_24_p coh_mem_24_n "COH-MEM-24"
    coh_mem_25_p coh_mem_25_n "COH-MEM-25"
    coh_mem_26_p coh_mem_26_n "COH-MEM-26"
    coh_mem_27_p coh_mem_27_n "COH-MEM-27"
    coh_mem_28_p coh_mem_28_n "COH-MEM-28"
}

rule_tests! { hdm_h_obeys, hdm_h_breaks:
    coh_mem_29_p coh_mem_29_n "COH-MEM-29"
    coh_mem_30_p coh_mem_30_n "COH-MEM-30"
    coh_mem_31_p coh_mem_31_n "COH-MEM-31"
    coh_mem_32_p coh_mem_32_n "COH-MEM-32"
    coh_mem_33_p coh_mem_33_n "COH-MEM-33"
    coh_mem_34_p coh_mem_34_n "COH-MEM-34"
    coh_mem_35_p coh_mem_35_n "COH-MEM-35"
}

rule_tests! { issue_obeys, issue_breaks:
    coh_mem_37_p coh_mem_37_n "COH-MEM-37"
    coh_mem_38_p coh_mem_38_n "COH-MEM-38"
    coh_mem_39_p coh_mem_39_n "COH-MEM-39"
    coh_mem_40_p coh_mem_40_n "COH-MEM-40"
    coh_mem_41_p coh_mem_41_n "COH-MEM-41"
    coh_mem_42_p coh_mem_42_n "COH-MEM-42"
    coh_mem_43_p coh_mem_43_n "COH-MEM-43"
}

rule_tests! { answers_obey, answers_break:
    coh_sfi_02_p coh_sfi_02_n "COH-SFI-02"
    coh_sfi_03_p coh_sfi_03_n "COH-SFI-03"
    coh_sfi_04_p coh_sfi_04_n "COH-SFI-04"
}

rule_tests! { bias_obeys, bias_breaks:
    coh_bia_02_p coh_bia_02_n "COH-BIA-02"
    coh_bia_03_p coh_bia_03_n "COH-BIA-03"
    coh_bia_04_p coh_bia_04_n "COH-BIA-04"
    coh_bia_05_p coh_bia_05_n "COH-BIA-05"
    coh_bia_06_p coh_bia_06_n "COH-BIA-06"
    coh_bia_07_p coh_bia_07_n "COH-BIA-07"
}
