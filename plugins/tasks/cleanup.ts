import { defineTask } from './define-task.ts'
import type { TaskDefinition } from './definitions.ts'

/** A clean-up, with the members in which it differs from others. */
export type Cleanup = Pick<TaskDefinition, 'name' | 'title' | 'description' | 'run'> & Partial<TaskDefinition>

/** Defines a task that deletes data that nothing needs. */
export const defineCleanup = (cleanup: Cleanup): TaskDefinition => defineTask({ type: 'cleanup', ...cleanup })
