import { type BigIntStats, lstat as lstatCallback } from 'node:fs'

/** Facts about a path: about a link itself, not its target. */
export interface PathFacts {
  kind: 'file' | 'folder' | 'other'
  size: number
  /** Milliseconds since 1970. */
  mtime: number
  /** Decimal; text because some file systems use all 64 bits. */
  inode: string
}

/** Writes facts as one text, because texts are quick to compare and to pass to a thread. */
export const toFactsText = ({ kind, size, mtime, inode }: Record<keyof PathFacts, string | number | bigint>) =>
  `${kind} ${size} ${mtime} ${inode}`

export function parseFacts (text: string): PathFacts {
  const [kind = '', size, mtime, inode = ''] = text.split(' ')
  return { kind: kind === 'file' || kind === 'folder' ? kind : 'other', size: Number(size), mtime: Number(mtime), inode }
}

/** Returns the facts of a path, or rejects with the error of the file system. */
export type Lstat = (path: string) => Promise<PathFacts>

export function kindOf (stats: BigIntStats): PathFacts['kind'] {
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'folder' : 'other'
}

// The callback form takes half the time of the one in node:fs/promises. The synchronous form would block the process
// while a network share answers.
export function lstat (path: string): Promise<PathFacts> {
  return new Promise((resolve, reject) => {
    lstatCallback(path, { bigint: true }, (err, stats) => {
      if (err !== null) return reject(err)
      const { size, mtimeMs: mtime, ino: inode } = stats
      resolve({ kind: kindOf(stats), size: Number(size), mtime: Number(mtime), inode: String(inode) })
    })
  })
}
