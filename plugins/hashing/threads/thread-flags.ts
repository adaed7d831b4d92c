/** The flag of a confined process. */
export const PERMISSION = '--permission'
/** Flags of a process that a thread may be given; Node refuses the others. */
const THREAD_FLAGS = [PERMISSION, '--allow-fs-read=', '--no-experimental-sqlite', '--conditions=', '--import=']

/**
 * The flags of the threads of a confined process; undefined in any other process, whose threads inherit its flags.
 * A thread may not start threads itself, because one with other flags would have all permissions.
 */
export const threadFlags = (): string[] | undefined => process.execArgv.includes(PERMISSION)
  ? process.execArgv.filter((flag) => THREAD_FLAGS.some((start) => flag.startsWith(start)))
  : undefined
