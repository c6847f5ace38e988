from lairmake.stages.make import layer_config, layer_tasks as task_layer
DOIT_CONFIG = layer_config()
