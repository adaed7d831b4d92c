import { readFileSync, watch } from 'node:fs'
import { errorCode } from '../../core/files/fs-error.ts'

/**
 * Called with `rename` if a name appeared or vanished, with `change` on a write to a named file. The name is null if
 * unknown.
 */
export type WatchListener = (event: 'rename' | 'change', name: string | null) => void

export interface WatchHandle { close (): void }

/** Watches the names directly in one folder; throws if the system refuses. */
export type OpenWatch = (path: string, onEvent: WatchListener, onError: (err: unknown) => void) => WatchHandle

// A watch of a folder reports all names in it. Chokidar opens a second watch for each file (2,001 for 2,000 files), of
// which a system has few. It is also silent about files that it is told to ignore.
export const openWatch: OpenWatch = (path, onEvent, onError) =>
  watch(path, { persistent: false }, onEvent).on('error', onError)

/** Explains why folders are not watched, and the remedy. */
export function describeRefusal (err: unknown): string {
  switch (errorCode(err)) {
    case 'ENOSPC':
      return `the system allows no more watches (fs.inotify.max_user_watches is ${readLimit('max_user_watches')}). Raise ` +
        'it on the host, for instance with sysctl fs.inotify.max_user_watches=524288'
    case 'EMFILE':
      return 'the system allows no more watchers or open files (fs.inotify.max_user_instances is ' +
        `${readLimit('max_user_instances')}). Raise it on the host, or the limit of open files`
    case 'EACCES':
    case 'EPERM': return "no permission to read them. Give the server's user permission to read and enter them"
    default: return err instanceof Error ? err.message : String(err)
  }
}

function readLimit (name: string): string {
  try {
    return readFileSync(`/proc/sys/fs/inotify/${name}`, 'utf8').trim()
  } catch (err) {
    if (errorCode(err) === '') throw err
    return 'unknown'
  }
}
