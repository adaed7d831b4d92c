import { join } from 'node:path'

/** Returns the staging folder of a restore, which holds the new state until it replaces the old one. */
export const stagingOf = (dataDir: string): string => join(dataDir, '.svc-restore')
export const newDirOf = (dataDir: string): string => join(stagingOf(dataDir), 'new')
/** Returns the journal, which exists from the moment when a restore can only go forward. */
export const journalOf = (dataDir: string): string => join(stagingOf(dataDir), 'swap.json')
