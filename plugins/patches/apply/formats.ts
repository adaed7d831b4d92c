import { applyAps, applyApsGba } from './aps.ts'
import { applyBdf } from './bdf.ts'
import { applyBps } from './bps.ts'
import { type Apply, PatchError, type PatchRun } from './files.ts'
import { applyIps, applyIps32 } from './ips.ts'
import { applyPmsr } from './pmsr.ts'
import { applyPpf } from './ppf.ts'
import { applyRup } from './rup.ts'
import { applyUps } from './ups.ts'
import { applyVcdiff } from './vcdiff.ts'

interface Format {
  magic: string
  apply: Apply
  /** True for a format of cartridges and discs that has no checksum: applied to an archive, it only damages it. */
  isForContent?: true
}

/** The formats of patches by their first bytes. */
const FORMATS: readonly Format[] = [
  { magic: 'PATCH', apply: applyIps, isForContent: true },
  { magic: 'IPS32', apply: applyIps32, isForContent: true },
  { magic: 'BPS1', apply: applyBps },
  { magic: 'UPS1', apply: applyUps },
  { magic: 'PPF', apply: applyPpf, isForContent: true },
  { magic: 'NINJA2', apply: applyRup },
  { magic: 'APS10', apply: applyAps, isForContent: true },
  { magic: 'APS1', apply: applyApsGba },
  { magic: 'BSDIFF40', apply: applyBdf },
  { magic: 'PMSR', apply: applyPmsr, isForContent: true },
  { magic: '\xd6\xc3\xc4\0', apply: applyVcdiff }
]

const ARCHIVE_MAGICS = ['PK\x03\x04', '7z\xbc\xaf\x27\x1c', 'Rar!\x1a\x07']

const archiveBase = () => new PatchError('The file is an archive, and the patch was made for a file in it; unpack the archive first, ' +
  'such as by the task convert_library with to: plain')

/**
 * Applies a patch in the format that its first bytes name.
 *
 * @throws PatchError also for an archive that the patch was not made for
 */
export function applyPatch (patching: PatchRun): boolean {
  const head = patching.patch.source.readAt(0, 8).toString('latin1')
  const format = FORMATS.find(({ magic }) => head.startsWith(magic))
  if (format === undefined) throw new PatchError('The content of the patch is not in a known format; unpack it if it is an archive')
  const start = patching.base.readAt(0, 6).toString('latin1')
  const isArchive = ARCHIVE_MAGICS.some((magic) => start.startsWith(magic))
  if (isArchive && format.isForContent === true) throw archiveBase()
  const isValid = format.apply(patching)
  if (isArchive && !isValid) throw archiveBase()
  return isValid
}
