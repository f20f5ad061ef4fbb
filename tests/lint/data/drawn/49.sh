case "${GPU_ARCHS:-}" in
    gfx942|gfx950) ;;
    *) echo "Expected GPU_ARCHS=gfx942 or gfx950" >&2; exit 1 ;;
esac
if [[ "${HSA_XNACK:-}" != 1 ]]; then
    echo "GPU ASan requires HSA_XNACK=1" >&2
    exit 1
fi
