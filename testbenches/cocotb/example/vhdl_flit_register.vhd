-- The register of flit_register.sv as a top level in VHDL, for the same test: a flit that has come in stands at the output until it is
-- taken. Run in GHDL; the test finds ports of a VHDL entity by the same names.
library ieee;
use ieee.std_logic_1164.all;

entity vhdl_flit_register is
    generic (
        FLIT_BITS : positive := 544
    );
    port (
        clk          : in  std_logic;
        rst          : in  std_logic;
        s_flit_valid : in  std_logic;
        s_flit_ready : out std_logic;
        s_flit_data  : in  std_logic_vector(FLIT_BITS - 1 downto 0);
        m_flit_valid : out std_logic;
        m_flit_ready : in  std_logic;
        m_flit_data  : out std_logic_vector(FLIT_BITS - 1 downto 0)
    );
end entity vhdl_flit_register;

architecture rtl of vhdl_flit_register is
    signal full  : std_logic;
    signal ready : std_logic;
begin
    ready        <= (not full) or m_flit_ready;
    s_flit_ready <= ready;
    m_flit_valid <= full;

    process (clk, rst) is
    begin
        if rst = '1' then
            full        <= '0';
            m_flit_data <= (others => '0');
        elsif rising_edge(clk) then
            if ready = '1' then
                full        <= s_flit_valid;
                m_flit_data <= s_flit_data;
            end if;
        end if;
    end process;
end architecture rtl;
