def test_strix_boot_params_are_paired_and_exact():
    text = _strix_text()
    # gttsize and ttm.pages_limit must appear together and unchanged
    assert "amdgpu.gttsize=126976" in text
    assert "ttm.pages_limit=32505856" in text
    assert "amdgpu.cwsr_enable=0" in text
    assert "iommu=pt" in text
