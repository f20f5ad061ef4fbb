# Verify kernel cmdline has the parameter
grep sg_display /proc/cmdline

# Force reapply grubby
sudo grubby --update-kernel=ALL --args="amdgpu.sg_display=0"
sudo grubby --info=DEFAULT | grep args
sudo dracut --force
