import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVER_DIR } from './server-dir.ts'

/** The release of this server. */
export const VERSION = (JSON.parse(readFileSync(join(SERVER_DIR, 'package.json'), 'utf8')) as { version: string }).version
/** The API level, which companion apps compare; they refuse anything outside 5.1.0 to 5.2. */
export const API_VERSION = '5.2.0'
