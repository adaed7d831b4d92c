import { createHash, hash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Hashes } from './types.ts'

/** CRC32, MD5 and SHA-1 of bytes that come in pieces. */
export class Digest {
  #crc: number
  #md5: Hash
  #sha1: Hash
  size: number

  constructor (from?: Digest) {
    this.#crc = from ? from.#crc : 0
    this.#md5 = from ? from.#md5.copy() : createHash('md5')
    this.#sha1 = from ? from.#sha1.copy() : createHash('sha1')
    this.size = from ? from.size : 0
  }

  get crc (): number {
    return this.#crc
  }

  update (bytes: Uint8Array): void {
    this.#crc = crc32(bytes, this.#crc)
    this.#md5.update(bytes)
    this.#sha1.update(bytes)
    this.size += bytes.length
  }

  copy (): Digest {
    return new Digest(this)
  }

  /** Returns the hashes of all bytes so far; more bytes may follow. */
  hashes (): Hashes {
    return {
      crc_hash: formatCrc(this.#crc),
      md5_hash: this.#md5.copy().digest('hex'),
      sha1_hash: this.#sha1.copy().digest('hex')
    }
  }
}

/** Returns the hashes of bytes that are already in memory, without the cost of three hash objects. */
export function hashBytes (bytes: Uint8Array): Hashes {
  return { crc_hash: formatCrc(crc32(bytes)), md5_hash: hash('md5', bytes), sha1_hash: hash('sha1', bytes) }
}

function formatCrc (crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
