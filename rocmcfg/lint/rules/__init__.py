"""Pure functions: assignment, catalogue and machine in, verdicts out. What is true of amdgpu is data."""
