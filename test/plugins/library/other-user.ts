import { chmod } from 'node:fs/promises'
import type { Test } from 'tap'

const NOBODY = 65534

/**
 * Runs work while a path is not readable. Root may read everything, so as root it runs as another user. Windows has no
 * such permissions, so there it does not run.
 */
export async function asOtherUser (t: Test, closedPath: string, run: () => Promise<void>): Promise<void> {
  const { geteuid, seteuid } = process
  if (geteuid === undefined || seteuid === undefined) {
    t.comment('this system has no permissions to try')
    return
  }
  const user = geteuid()
  await chmod(closedPath, 0)
  if (user === 0) seteuid(NOBODY)
  try {
    await run()
  } finally {
    seteuid(user)
    await chmod(closedPath, 0o755)
  }
}
