git config --global user.name somebody
################################################################
# sudo reboot
# sudo mount /dev/nvme0n1p5 /home/user/L/
# Dell G5 SE
# sudo grubby --update-kernel=ALL --args="amdgpu.runpm=0"
################################################################
