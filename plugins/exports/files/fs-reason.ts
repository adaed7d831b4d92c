import { errorCode } from '../../../core/files/fs-error.ts'
import { messageOf } from '../../../core/loader/process/errors.ts'

const LONGEST_REASON = 1_000

/** True if the disk is full, so that no other file can be written either. */
export const isDiskFull = (err: unknown) => ['ENOSPC', 'EDQUOT', 'NO_FREE_SPACE'].includes(errorCode(err))

/** True if the folder itself takes no files, so that the next file would fail too. */
export const isNotWritable = (err: unknown) => ['EROFS', 'EACCES', 'EPERM'].includes(errorCode(err))

/** Describes why a file cannot be written into a folder, and the remedy. */
export function describeWriteError (err: unknown, folder: string): string {
  const place = JSON.stringify(folder)
  switch (errorCode(err)) {
    case 'EROFS': return `The folder ${place} is read-only. Mount the library writable (in Docker without ":ro") and export again.`
    case 'EACCES':
    case 'EPERM': return `No permission to write in the folder ${place}. Give the server's user the right to write there and export again.`
    case 'ENOSPC': return `The disk that holds ${place} is full. Free some space and export again.`
    case 'NO_FREE_SPACE': return `Less than 1 GiB is free on the disk that holds ${place}. Free some space and export again.`
    case 'EDQUOT': return `The quota of the disk that holds ${place} is used up. Free some space and export again.`
    case 'ENAMETOOLONG': return `The name is too long for the disk that holds ${place}. Shorten the ROM's name and scan again.`
    case 'ENOTDIR':
    case 'EEXIST': return `${place}, or a part of its path, is not a folder. Rename that file and export again.`
    default: return toReason(err)
  }
}

/** Returns an error's message in a form that the database and all readers accept. */
export function toReason (err: unknown): string {
  const message = messageOf(err)
  return message.replaceAll('\0', '').slice(0, LONGEST_REASON).toWellFormed()
}
