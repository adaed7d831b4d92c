import { FILES_MAX, GAMES_MAX, GAME_FILES_MAX, VALUE_MAX } from './dat-limits.ts'
import {
  type DatFile, type DatGame, type DatHeader, type DatRecord, EMPTY_HEADER, FILE_STATUSES, type FileStatus
} from './dat-types.ts'

/** Attributes of one element or block; names in lower case. */
export type Attributes = Readonly<Record<string, string | undefined>>

/** Reports a problem at the current line. @throws DatError */
export type Refuse = (problem: string, remedy: string) => never

const HEX = /^[\da-f]+$/
// The database refuses NUL, and a line feed or a half of a surrogate pair is no part of a name.
const UNPRINTABLE = /[\0-\x1f\x7f]|\p{Cs}/gu // eslint-disable-line no-control-regex

/** Returns a hash of a number of digits, or an empty text: poor DATs write `-`, or nothing. */
function readHash (given: string | undefined, digits: number): string {
  const hash = (given ?? '').trim().toLowerCase().replace(/^0x/, '')
  return hash.length === digits && HEX.test(hash) ? hash : ''
}

/** Returns a CRC-32; some writers leave out leading zeros. */
function readCrc (given: string | undefined): string {
  const crc = (given ?? '').trim().toLowerCase().replace(/^0x/, '')
  return crc !== '' && crc.length <= 8 && HEX.test(crc) ? crc.padStart(8, '0') : ''
}

function readSize (given: string | undefined): number | null {
  const size = /^\d{1,15}$/.test((given ?? '').trim()) ? Number(given) : null
  return size !== null && Number.isSafeInteger(size) ? size : null
}

/** Returns the status of a file. ClrMamePro texts write it as `flags`. */
function readStatus ({ status, flags, baddump, nodump }: Attributes): FileStatus {
  if (nodump === 'yes') return 'nodump'
  if (baddump === 'yes') return 'baddump'
  const word = (status ?? flags ?? '').trim().toLowerCase()
  return FILE_STATUSES.find((known) => known === word) ?? 'good'
}

const HEADER_FIELDS = ['name', 'description', 'version', 'date', 'author'] as const

/** Builds the records of a DAT from elements or blocks, and checks them. */
export class RecordBuilder {
  readonly records: DatRecord[] = []
  readonly #refuse: Refuse
  #game: DatGame | null = null
  #games = 0
  #files = 0

  constructor (refuse: Refuse) {
    this.#refuse = refuse
  }

  get isInGame (): boolean {
    return this.#game !== null
  }

  addHeader (values: Attributes): void {
    const header: DatHeader = { ...EMPTY_HEADER }
    for (const field of HEADER_FIELDS) header[field] = this.#clean(field, values[field] ?? '')
    this.records.push({ header })
  }

  openGame (values: Attributes): void {
    const text = (name: string): string | null => {
      const value = this.#clean(name, values[name] ?? '')
      return value === '' ? null : value
    }
    this.#game = {
      name: text('name') ?? '', clone_of: text('cloneof'), id: text('id'), clone_of_id: text('cloneofid'), files: []
    }
  }

  addFile (values: Attributes, isDisk: boolean): void {
    const name = this.#clean('name', values.name ?? '')
    if (name === '') this.#refuse('a file has no name', 'add its name')
    const { merge } = values
    const file: DatFile = {
      name,
      size: readSize(values.size),
      crc: readCrc(values.crc),
      md5: readHash(values.md5, 32),
      sha1: readHash(values.sha1, 40),
      status: readStatus(values),
      merge: merge === undefined || merge === '' ? null : this.#clean('merge', merge),
      is_disk: isDisk
    }
    if (++this.#files > FILES_MAX) this.#refuse(`more than ${FILES_MAX} files`, 'split the DAT')
    const files = this.#game?.files ?? []
    if (files.push(file) > GAME_FILES_MAX) this.#refuse(`a game has more than ${GAME_FILES_MAX} files`, 'split it')
  }

  /** Completes the game. A game without files, such as a machine without ROMs, is skipped. */
  closeGame (): void {
    const game = this.#game
    this.#game = null
    if (game === null || game.files.length === 0) return
    if (game.name === '') this.#refuse('a game has no name', 'add its name')
    if (++this.#games > GAMES_MAX) this.#refuse(`more than ${GAMES_MAX} games`, 'split the DAT')
    this.records.push({ game })
  }

  #clean (field: string, value: string): string {
    if (Buffer.byteLength(value) > VALUE_MAX) this.#refuse(`the value of '${field}' has more than ${VALUE_MAX} bytes`, 'shorten it')
    return value.replace(UNPRINTABLE, ' ').trim()
  }
}
