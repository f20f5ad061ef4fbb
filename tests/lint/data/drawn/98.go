package main

func (c *Cmd) Exec() {
	command.SetEnv("GPU_MAX_ALLOC_PERCENT", "100")
	command.SetEnv("GPU_SINGLE_ALLOC_PERCENT", "100")
	command.SetEnv("GPU_MAX_HEAP_SIZE", "100")
	db := command.NewDB()
}
