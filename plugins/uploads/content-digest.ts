import { createHash } from 'node:crypto'
import { badRequest } from '../../core/errors.ts'

const ALGORITHMS = new Map([['sha-256', 'sha256'], ['sha-512', 'sha512']])
const MEMBER = /^\s*([a-z0-9*_.-]+)\s*=\s*:([A-Za-z0-9+/]*={0,2}):\s*$/

/** A digest of the received bytes, to compare with that of the sender. */
export interface Check {
  update (piece: Buffer): void
  /** Ends the check. @throws ApiError BAD_REQUEST if the digests differ */
  finish (): void
}

/**
 * Creates the check of a `Content-Digest` header (RFC 9530); ignores unknown algorithms, as the RFC demands.
 *
 * @throws ApiError BAD_REQUEST for a malformed header
 */
export function createCheck (header: string | undefined): Check {
  const checks = (header?.split(',') ?? []).flatMap((text) => {
    const [, name = '', expected = ''] = MEMBER.exec(text) ?? []
    if (name === '') throw badRequest("Content-Digest cannot be read; send 'sha-256=:<base64>:'")
    const algorithm = ALGORITHMS.get(name)
    return algorithm === undefined ? [] : [{ name, expected, hash: createHash(algorithm) }]
  })
  return {
    update (piece) { for (const { hash } of checks) hash.update(piece) },
    finish () {
      for (const { name, expected, hash } of checks) {
        if (hash.digest('base64') !== expected) throw badRequest(`The received bytes do not have the digest in ${name}; send them again`)
      }
    }
  }
}
