import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

const NOBODY = 65534

/**
 * Creates a folder that every user can reach. The test's own folder lies in the checkout, which may lie below a folder
 * that only root may enter, such as /root.
 */
export async function makeReachableFolder (t: Test, content: Parameters<Test['testdir']>[0]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-reachable-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await chmod(folder, 0o755)
  await cp(t.testdir(content), folder, { recursive: true })
  return folder
}

/** False if the other user cannot start Node, because root's checkout lies below a folder that only root may enter. */
export function canOtherUserStartNode (): boolean {
  if (process.geteuid?.() !== 0) return true
  return spawnSync(process.execPath, ['--version'], { uid: NOBODY, cwd: '/' }).error === undefined
}

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
