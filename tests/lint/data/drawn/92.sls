jupyter_service:
  file.managed:
    - name: /home/user/.config/systemd/user/jupyter.service
    - contents: |
        [Service]
        Type=simple
        # Environment=HIP_LAUNCH_BLOCKING=1
        # Environment=AMD_LOG_LEVEL=3
        ExecStart=jupyter lab --ip=localhost
