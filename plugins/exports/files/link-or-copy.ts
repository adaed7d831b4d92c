import { constants } from 'node:fs'
import { copyFile, link, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { errorCode } from '../../../core/files/fs-error.ts'

/** Another disk, a disk without hard links, a rule against links to others' files, or too many of them. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

/** Gives a file a second name; where that cannot be, a copy under that name. Nothing may have the name yet. */
export async function linkOrCopy (source: string, target: string): Promise<void> {
  try {
    await link(source, target)
  } catch (err) {
    if (!NO_LINK.has(errorCode(err))) throw err
    await requireFreeSpace(dirname(target), (await stat(source)).size)
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}
