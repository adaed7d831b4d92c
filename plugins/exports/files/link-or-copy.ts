import { constants } from 'node:fs'
import { copyFile, link, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { errorCode } from '../../../core/files/fs-error.ts'

/** Codes for another disk, a disk without hard links, a rule against links to files of others, or too many links. */
const NO_LINK = new Set(['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'])

/** Gives a file a second name by a hard link, or by a copy if links are impossible. The target must not exist yet. */
export async function linkOrCopy (source: string, target: string): Promise<void> {
  try {
    await link(source, target)
  } catch (err) {
    if (!NO_LINK.has(errorCode(err))) throw err
    await requireFreeSpace(dirname(target), (await stat(source)).size)
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  }
}
