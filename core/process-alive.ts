import { errorCode } from './files/fs-error.ts'

/** Whether there is such a process. */
export function isAlive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (err) {
    return errorCode(err) === 'EPERM'
  }
}
