import { Type } from '@sinclair/typebox'
import type { TaskDefinition } from './definitions.ts'

/**
 * Defines a task by the members in which it differs from others. With a cron string it is scheduled, else people start
 * it.
 */
export const defineTask = (
  task: Pick<TaskDefinition, 'name' | 'title' | 'description' | 'type' | 'run'> & Partial<TaskDefinition>
): TaskDefinition => ({
  group: task.cron_string === undefined ? 'manual' : 'scheduled',
  enabled: true,
  manual_run: true,
  cron_string: '',
  destructive: false,
  isSingle: true,
  arguments: Type.Object({}, { additionalProperties: false }),
  ...task
})
