import { Type } from '@sinclair/typebox'
import type { TaskDefinition } from './definitions.ts'

/** A clean-up, with the members in which it differs from others. */
export type Cleanup = Pick<TaskDefinition, 'name' | 'title' | 'description' | 'run'> &
  Partial<Pick<TaskDefinition, 'enabled' | 'manual_run' | 'cron_string' | 'destructive' | 'arguments'>>

/** Defines a task that deletes data that nothing needs. With a cron string it is scheduled, else people start it. */
export const defineCleanup = (cleanup: Cleanup): TaskDefinition => ({
  type: 'cleanup',
  group: cleanup.cron_string === undefined ? 'manual' : 'scheduled',
  enabled: true,
  manual_run: true,
  cron_string: '',
  destructive: false,
  isSingle: true,
  arguments: Type.Object({}, { additionalProperties: false }),
  ...cleanup
})
