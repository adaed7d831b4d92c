import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'

const execute = promisify(execFile)
const INSTALL_MS = 300_000

/** Installs packages of Debian if root runs the test. @returns true if their programs are there in the end */
export async function installDebian (packages: readonly string[], isThere: () => Promise<boolean>): Promise<boolean> {
  if (await isThere()) return true
  if (process.getuid?.() !== 0) return false
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  try {
    await execute('apt-get', ['update'], options)
    await execute('apt-get', ['install', '--yes', '--no-install-recommends', ...packages], options)
  } catch (err) {
    t.comment(`${packages.join(', ')} could not be installed: ${err instanceof Error ? err.message : String(err)}`)
  }
  return await isThere()
}
