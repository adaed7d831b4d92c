import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'

/** The folder of artwork and manuals in the store. */
export const RESOURCES = 'resources'

/** The folder of this machine for files that are not complete, in the resources folder. */
export const UNFINISHED = '.unfinished'

/** Returns the key of a file. @param path relative to the resources folder, as rows name it */
export const resourceKey = (path: string): string => `${RESOURCES}/${path}`

/** Returns the folder of this machine where files wait until they are complete. Without a bucket it holds all files. */
export const resourcesDirOf = (config: Config): string => join(config.data_dir, RESOURCES)
