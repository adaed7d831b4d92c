import { randomBytes } from 'node:crypto'

/** One start of the server on one machine: `svc start` with all its processes, `svc web`, or `svc worker`. */
export interface Host {
  /** Random, because containers often have equal names and process ids. */
  id: string
  /** The address on which other hosts reach this one; null if no other host does. */
  address: string | null
}

const ID_BYTES = 10
/** The pattern of a host's id. */
export const HOST_ID = `[0-9a-f]{${ID_BYTES * 2}}`

export const createHostId = () => randomBytes(ID_BYTES).toString('hex')
