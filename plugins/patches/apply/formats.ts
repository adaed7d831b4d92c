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

/** The formats of patches by their first bytes. */
const FORMATS: readonly { magic: string, apply: Apply }[] = [
  { magic: 'PATCH', apply: applyIps },
  { magic: 'IPS32', apply: applyIps32 },
  { magic: 'BPS1', apply: applyBps },
  { magic: 'UPS1', apply: applyUps },
  { magic: 'PPF', apply: applyPpf },
  { magic: 'NINJA2', apply: applyRup },
  { magic: 'APS10', apply: applyAps },
  { magic: 'APS1', apply: applyApsGba },
  { magic: 'BSDIFF40', apply: applyBdf },
  { magic: 'PMSR', apply: applyPmsr },
  { magic: '\xd6\xc3\xc4\0', apply: applyVcdiff }
]

/** Applies a patch in the format that its first bytes name. @throws PatchError */
export function applyPatch (patching: PatchRun): boolean {
  const head = patching.patch.source.readAt(0, 8).toString('latin1')
  const format = FORMATS.find(({ magic }) => head.startsWith(magic))
  if (format === undefined) throw new PatchError('The content of the patch is not in a known format; unpack it if it is an archive')
  return format.apply(patching)
}
