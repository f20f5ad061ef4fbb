echo -e "Add any kernel parameters that you need. Separate them by space. (example: amdgpu.runpm=0, audit=1, vfio-pci.ids=1002:731f). Press enter to leave it blank."
read kparams; clear
echo -e "Load vfio_pci early?"
read vfio
