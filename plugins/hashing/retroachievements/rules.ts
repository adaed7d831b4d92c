import { hashN64, hashPcEngine, hashSnes, hashText, hashWhole, skipHeader, type ContentRule } from './cartridges.ts'
import { PC_ENGINE, ruleOf, SNES } from './consoles.ts'
import {
  hashDreamcast, hashNeoGeoCd, hashPcEngineCd, hashPcFx, hashPlayStation, hashPlayStation2, hashPsp, hashSegaDisc,
  type DiscRule
} from './discs.ts'
import { hashJaguarCd } from './jaguar-cd.ts'
import { hashGameCube, hashWii } from './nintendo-disc.ts'
import { hashNintendoDs } from './nintendo-ds.ts'
import { hash3do } from './opera.ts'

const hashNes = skipHeader(16, { at: 0, text: 'NES\x1a' }, { at: 0, text: 'FDS\x1a' })

const CONTENT_RULES = new Map<number, ContentRule>([
  [2, hashN64],
  [SNES, hashSnes],
  [7, hashNes],
  [PC_ENGINE, hashPcEngine],
  [13, skipHeader(64, { at: 0, text: 'LYNX\0' })],
  [16, hashGameCube],
  [18, hashNintendoDs],
  [19, hashWii],
  [51, skipHeader(128, { at: 1, text: 'ATARI7800' })],
  [71, hashText],
  [78, hashNintendoDs],
  [81, hashNes]
])

const DISC_RULES = new Map<number, DiscRule>([
  [9, hashSegaDisc],
  [12, hashPlayStation],
  [21, hashPlayStation2],
  [39, hashSegaDisc],
  [40, hashDreamcast],
  [41, hashPsp],
  [43, hash3do],
  [49, hashPcFx],
  [56, hashNeoGeoCd],
  [76, hashPcEngineCd],
  [77, hashJaguarCd]
])
const PSP = 41

/** Returns the rule for the bytes of a file; null if there is none, such as for a disc with tracks. */
export function contentRuleOf (console: number, path: string): ContentRule | null {
  // Homebrew is an archive of the program and its pictures.
  if (console === PSP && path.toLowerCase().endsWith('.pbp')) return hashWhole
  return CONTENT_RULES.get(console) ?? (ruleOf(console) === 'content' ? hashWhole : null)
}

export const discRuleOf = (console: number): DiscRule | null => DISC_RULES.get(console) ?? null
