// SPDX-License-Identifier: GPL-2.0
/*
 * Devices that crash on demand, as an amdgpu does: the kernel's own devcoredump keeps their dumps, and their card
 * sends the uevent of a wedged device. They belong to a driver of the platform bus with the name amdgpu.
 *
 *   insmod rocmcfg_crash.ko name=NAME devices=N
 *   echo 'dump FIRST COUNT BYTES' > /sys/module/rocmcfg_crash/parameters/crash
 *   echo 'wedged METHODS' > /sys/module/rocmcfg_crash/parameters/crash
 *
 * /dev/dri/renderD200 is a device whose open files look like those of a client with GPU memory.
 */
#include <linux/devcoredump.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <drm/drm_sysfs.h>

#define MOST 16
#define BLOCK (256 << 10)

static char *name = "crashing";
module_param(name, charp, 0444);
static unsigned int devices = 1;
module_param(devices, uint, 0444);

static struct platform_device *gpus[MOST];
static struct device *card;

static int gpu_probe(struct platform_device *gpu)
{
	return 0;
}

static struct platform_device_id ids[2];

static struct platform_driver gpu_driver = {
	.probe = gpu_probe,
	.id_table = ids,
	.driver = { .name = "amdgpu" },
};

static int dump(unsigned int at, size_t size)
{
	static const char head[] = "**** AMDGPU Device Coredump ****\nversion: 1\nmodule: amdgpu\n";
	size_t offset, block = min_t(size_t, size, BLOCK);
	char *data = vzalloc(size);

	if (!data)
		return -ENOMEM;
	/* Text that looks like a table of registers, the same block again and again: a guest is slow. */
	for (offset = 0; offset + 32 <= block; offset += 32)
		snprintf(data + offset, 32, "0x%08zx \t 0x%08x\n", offset, (u32)(offset * 2654435761u));
	for (offset = block; offset < size; offset += block)
		memcpy(data + offset, data, min(block, size - offset));
	memcpy(data, head, min(size, sizeof(head) - 1));
	dev_info(&gpus[at]->dev, "ring gfx_0.0.0 timeout, signaled seq=6, emitted seq=8\n");
	dev_coredumpv(&gpus[at]->dev, data, size, GFP_KERNEL);
	return 0;
}

static int crash_set(const char *text, const struct kernel_param *param)
{
	unsigned int first, count, at;
	size_t size;
	char methods[24], event[40];
	char *variables[] = { event, "PID=1234", "TASK=$(touch /pwned)", NULL };

	if (sscanf(text, "dump %u %u %zu", &first, &count, &size) == 3) {
		for (at = first; at < first + count && at < devices; at++)
			if (dump(at, size))
				return -ENOMEM;
		return 0;
	}
	if (sscanf(text, "wedged %23s", methods) == 1) {
		snprintf(event, sizeof(event), "WEDGED=%s", methods);
		dev_info(&gpus[0]->dev, "[drm] device wedged, but recovered through reset\n");
		return kobject_uevent_env(&card->kobj, KOBJ_CHANGE, variables);
	}
	return -EINVAL;
}

static const struct kernel_param_ops crash_ops = { .set = crash_set };
module_param_cb(crash, &crash_ops, NULL, 0200);

static void show_memory(struct seq_file *out, struct file *file)
{
	seq_printf(out, "drm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n");
	seq_printf(out, "drm-memory-vram:\t2048 KiB\ndrm-memory-gtt:\t16 KiB\ndrm-memory-cpu:\t0 KiB\n");
}

static const struct file_operations render_operations = {
	.owner = THIS_MODULE,
	.show_fdinfo = show_memory,
};

static struct miscdevice render = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rocmcfg_render",
	.nodename = "dri/renderD200",
	.fops = &render_operations,
};

static void card_release(struct device *dev)
{
	kfree(dev);
}

static const struct device_type card_type = { .name = "drm_minor" };

static void gpus_gone(void)
{
	unsigned int at;

	for (at = 0; at < devices; at++)
		if (!IS_ERR_OR_NULL(gpus[at]))
			platform_device_unregister(gpus[at]);
}

static int __init crash_init(void)
{
	unsigned int at;
	int problem;

	strscpy(ids[0].name, name, sizeof(ids[0].name));
	devices = clamp(devices, 1u, (unsigned int)MOST);
	problem = platform_driver_register(&gpu_driver);
	if (problem)
		return problem;
	problem = misc_register(&render);
	if (problem)
		goto no_render;
	for (at = 0; at < devices; at++) {
		gpus[at] = platform_device_alloc(name, at);
		if (!gpus[at]) {
			problem = -ENOMEM;
			goto no_devices;
		}
		problem = platform_device_add(gpus[at]);
		if (problem) {
			platform_device_put(gpus[at]);
			gpus[at] = NULL;
			goto no_devices;
		}
	}
	card = kzalloc(sizeof(*card), GFP_KERNEL);
	if (!card) {
		problem = -ENOMEM;
		goto no_devices;
	}
	card->type = &card_type;
	card->parent = &gpus[0]->dev;
	card->release = card_release;
	dev_set_name(card, "card9");
	problem = drm_class_device_register(card);
	if (!problem)
		return 0;
	put_device(card);
no_devices:
	gpus_gone();
	misc_deregister(&render);
no_render:
	platform_driver_unregister(&gpu_driver);
	return problem;
}

static void __exit crash_exit(void)
{
	drm_class_device_unregister(card);
	gpus_gone();
	misc_deregister(&render);
	platform_driver_unregister(&gpu_driver);
}

module_init(crash_init);
module_exit(crash_exit);
MODULE_DESCRIPTION("Devices that crash on demand, for the tests of rocmcfg");
MODULE_LICENSE("GPL");
