import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where this server is installed: the folder of its package.json. */
export const SERVER_DIR = dirname(dirname(fileURLToPath(import.meta.url)))
