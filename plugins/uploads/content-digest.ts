import { createHash } from 'node:crypto'
import { badRequest } from '../../core/errors.ts'

const ALGORITHMS = new Map([['sha-256', 'sha256'], ['sha-512', 'sha512']])
const MEMBER = /^\s*([a-z0-9*_.-]+)\s*=\s*:([A-Za-z0-9+/]*={0,2}):\s*$/

/** Adds up what arrives, to be compared with what its sender says. */
export interface Check {
  update (piece: Buffer): void
  /** @throws ApiError BAD_REQUEST unless it is what was sent */
  finish (): void
}

/**
 * The check of what a `Content-Digest` header says (RFC 9530); algorithms that are not known are left aside, as that
 * demands.
 *
 * @throws ApiError BAD_REQUEST for a header that nobody can read
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
        if (hash.digest('base64') !== expected) throw badRequest(`The bytes that came are not those that ${name} says; send them again`)
      }
    }
  }
}
