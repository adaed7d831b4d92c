import type pg from 'pg'
import type { DatFile, DatGame, DatHeader } from '../parse/dat-types.ts'
import { type FileRow, type GameRow, insertGames, updateClones } from './dat-write-rows.ts'

/** Files per statement. */
const COPIED_FILES = 20_000
/** TOSEC marks bad dumps in names: https://www.tosecdev.org/tosec-naming-convention */
const TOSEC_BAD = /\[b\d*(?: [^\]]*)?\]/

/** True if a file can be compared and is part of the set of its game, not of the parent's. */
function isComparable ({ status, merge, size, crc, md5, sha1 }: DatFile): boolean {
  return status !== 'nodump' && merge === null && size !== 0 && `${crc}${md5}${sha1}` !== ''
}

/** A sheet names the files of the tracks, so a sheet of renamed files has another hash. */
const SHEET = /\.(?:cue|gdi)$/i

/**
 * Tells which files a complete game has. Disks lie beside the archive of a game, and sheets describe tracks: both are
 * needed only without other files.
 */
function listNeeded (files: readonly DatFile[]): boolean[] {
  const isBeside = ({ name, is_disk: isDisk }: DatFile) => isDisk || SHEET.test(name)
  const hasOthers = files.some((file) => !isBeside(file) && isComparable(file))
  return files.map((file) => isComparable(file) && !(isBeside(file) && hasOthers))
}

/** @property isBad true if the name of the game marks a bad dump */
interface FileFacts { isBad: boolean, isNeeded: boolean }

/** Writes the games of one DAT in batches. */
export class GameWriter {
  readonly #client: pg.ClientBase
  readonly #datId: number
  readonly #isTosec: boolean
  readonly #ids = new Map<string, string>()
  readonly #clones: { position: number, parent: string }[] = []
  #games: GameRow[] = []
  #files: FileRow[] = []
  #positions = 0
  /** Games that have a known dump, and files of all games. */
  readonly counts = { games: 0, files: 0 }

  constructor (client: pg.ClientBase, datId: number, { name, author, version }: DatHeader) {
    this.#client = client
    this.#datId = datId
    this.#isTosec = /tosec/i.test(`${name} ${author} ${version}`)
  }

  async add ({ name, clone_of: parent, id, clone_of_id: parentId, files }: DatGame): Promise<void> {
    const position = this.#positions++
    if (id !== null) this.#ids.set(id, name)
    if (parent === null && parentId !== null) this.#clones.push({ position, parent: parentId })
    const areNeeded = listNeeded(files)
    const needed = areNeeded.filter(Boolean).length
    if (needed > 0) this.counts.games++
    this.counts.files += files.length
    this.#games.push({ position, name, clone_of: parent, needed })
    const isBad = this.#isTosec && TOSEC_BAD.test(name)
    for (const [index, file] of files.entries()) {
      this.#addFile(position, index, file, { isBad, isNeeded: areNeeded[index] ?? false })
    }
    if (this.#files.length >= COPIED_FILES) await this.#flush()
  }

  #addFile (game: number, position: number, file: DatFile, { isBad, isNeeded }: FileFacts): void {
    const { name, size, crc, md5, sha1, status, merge, is_disk: isDisk } = file
    this.#files.push({
      game,
      position,
      name,
      file_size_bytes: size,
      crc_hash: crc,
      md5_hash: md5,
      sha1_hash: sha1,
      status: isBad && status === 'good' ? 'baddump' : status,
      merge,
      is_disk: isDisk,
      is_needed: isNeeded
    })
  }

  /** Writes the rest, and the parents that are known by their ids. */
  async finish (): Promise<void> {
    await this.#flush()
    await updateClones(this.#client, this.#datId, this.#clones.flatMap(({ position, parent }) => {
      const name = this.#ids.get(parent)
      return name === undefined ? [] : [{ position, name }]
    }))
  }

  async #flush (): Promise<void> {
    await insertGames(this.#client, this.#datId, this.#games, this.#files)
    this.#games = []
    this.#files = []
  }
}
