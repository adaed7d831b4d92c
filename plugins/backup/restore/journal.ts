import { join } from 'node:path'

/** What is being restored, until it takes the place of what was there. */
export const stagingOf = (dataDir: string): string => join(dataDir, '.svc-restore')
export const newDirOf = (dataDir: string): string => join(stagingOf(dataDir), 'new')
/** There from the moment on from which a restore only goes forward. */
export const journalOf = (dataDir: string): string => join(stagingOf(dataDir), 'swap.json')
