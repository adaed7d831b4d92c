import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ExclusionRules, type Exclusions, createExclusions } from '../../../plugins/library/exclusions.ts'

/** The size of a generated platform. */
export interface GeneratedPlatform {
  /** Files directly in the platform's folder. */
  files?: number
  folders?: number
  filesPerFolder?: number
}

/** Writes one-byte games into a folder; the same input gives the same names. */
export async function generatePlatform (folder: string, platform: GeneratedPlatform): Promise<void> {
  const { files = 0, folders = 0, filesPerFolder = 0 } = platform
  await mkdir(folder, { recursive: true })
  for (let i = 0; i < files; i++) await writeFile(join(folder, `Star Farm ${i} (Europe) (En,De).sfc`), '1')
  for (let i = 0; i < folders; i++) {
    const game = join(folder, `Iron Delta ${i} (USA)`)
    await mkdir(game)
    for (let j = 0; j < filesPerFolder; j++) await writeFile(join(game, `Track ${j}.bin`), '1')
  }
}

/** Returns the built-in exclusions with the given ones. */
export function exclusionRules (own: {
  platforms?: string[]
  single?: Partial<Exclusions['roms']['single_file']>
  multi?: string[]
  parts?: Partial<Exclusions['roms']['multi_file']['parts']>
} = {}): ExclusionRules {
  return createExclusions({
    platforms: own.platforms ?? [],
    roms: {
      single_file: { extensions: [], names: [], ...own.single },
      multi_file: { names: own.multi ?? [], parts: { extensions: [], names: [], ...own.parts } }
    }
  })
}

export async function collect<Value> (values: AsyncIterable<Value>): Promise<Value[]> {
  const collected: Value[] = []
  for await (const value of values) collected.push(value)
  return collected
}
