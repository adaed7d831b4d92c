import { join, relative } from 'node:path'
import type { Config } from '../config/config.ts'
import { SERVER_DIR } from '../server-dir.ts'

const quote = (text: string) => /^[\w./:\\@-]+$/.test(text) ? text : `"${text}"`

/** Returns the command of this installation's command line, relative to the current folder. */
export function commandLine (config: Config, ...args: string[]): string {
  const script = join(SERVER_DIR, 'core', 'svc.js')
  const relativePath = relative(process.cwd(), script)
  const isDefault = config.data_dir === join(process.cwd(), 'data')
  return ['node', quote(relativePath.startsWith('..') ? script : relativePath),
    ...(isDefault ? [] : ['--data-dir', quote(config.data_dir)]), ...args].join(' ')
}
