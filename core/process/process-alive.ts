import { errorCode } from '../files/fs-error.ts'

/** True if a process with this id exists. */
export function isAlive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (err) {
    return errorCode(err) === 'EPERM'
  }
}
