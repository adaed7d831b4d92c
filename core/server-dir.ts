import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder where this server is installed, which contains its package.json. */
export const SERVER_DIR = dirname(dirname(fileURLToPath(import.meta.url)))
