import type { components } from '../../api/schema.d.ts'

export type RomFile = components['schemas']['RomFile']

export type Category = NonNullable<RomFile['category']>

/** Files of one kind. */
export interface FileGroup {
  category: Category
  files: RomFile[]
}

/** The order of the groups: the game and what belongs to it first. */
const ORDER: readonly Category[] = [
  'game',
  'update',
  'dlc',
  'patch',
  'hack',
  'mod',
  'translation',
  'demo',
  'prototype',
  'cheat',
  'manual',
  'soundtrack',
  'screenshot'
]

/** Lists the files to which a patch may apply: those of the game first, and no music, manuals or pictures. */
export function listPatchable (files: readonly RomFile[]): RomFile[] {
  const others: readonly Category[] = ['patch', 'manual', 'soundtrack', 'screenshot']
  return groupFiles(files, '').flatMap(({ category, files: group }) => others.includes(category) ? [] : group)
}

/** Groups files by kind, in the order of their paths. Files without a kind are those of the game. */
export function groupFiles (files: readonly RomFile[], search: string): FileGroup[] {
  const wanted = search.trim().toLowerCase()
  const found = wanted === '' ? files : files.filter(({ full_path: path }) => path.toLowerCase().includes(wanted))
  const groups = Map.groupBy(found, ({ category }) => category ?? 'game')
  return ORDER.flatMap((category) => {
    const group = groups.get(category)
    return group === undefined
      ? []
      : [
          {
            category,
            files: group.toSorted((a, b) => a.full_path.localeCompare(b.full_path, undefined, { numeric: true }))
          }
        ]
  })
}

/** Returns the hashes of a file that are known, by their usual names. */
export const listHashes = ({
  crc_hash: crc,
  md5_hash: md5,
  sha1_hash: sha1,
  chd_sha1_hash: chd,
  ra_hash: ra
}: RomFile): [string, string][] =>
  (
    [
      ['CRC32', crc],
      ['MD5', md5],
      ['SHA-1', sha1],
      ['CHD', chd],
      ['RetroAchievements', ra]
    ] as const
  ).flatMap(([name, hash]): [string, string][] => (hash === null || hash === '' ? [] : [[name, hash]]))
