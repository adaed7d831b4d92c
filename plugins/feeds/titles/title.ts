import type { IndexEntry } from '@svc/plugin-sdk'

/** A Switch title as Tinfoil reads it. */
export interface Title {
  id: string
  name: string
  description: string
  region: string
  publisher: string
  /** `YYYYMMDD` as a number. */
  releaseDate: number
  size: number
  version: number
  /** From 0 to 100. */
  rating: number
  rank: number
}

/** The countries whose shops are in the database. */
const REGIONS: ReadonlySet<unknown> = new Set([
  'AR', 'AT', 'AU', 'BE', 'BG', 'BR', 'CA', 'CH', 'CL', 'CN', 'CO', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GB', 'GR',
  'HK', 'HR', 'HU', 'IE', 'IT', 'JP', 'KR', 'LT', 'LU', 'LV', 'MT', 'MX', 'NL', 'NO', 'NZ', 'PE', 'PL', 'PT', 'RO', 'RU', 'SE',
  'SI', 'SK', 'US', 'ZA'
])
const FIRST_DAY = 19_700_101
const RATING_MAX = 100

const toText = (value: unknown) => typeof value === 'string' ? value : ''

/** Converts a number, which the database sometimes stores as text. */
function toWhole (value: unknown): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? Math.max(0, Math.trunc(number)) : 0
}

function toTitle (record: Record<string, unknown>): Title {
  return {
    id: toText(record.id),
    name: toText(record.name),
    description: toText(record.description),
    region: typeof record.region === 'string' && REGIONS.has(record.region) ? record.region : 'US',
    publisher: toText(record.publisher),
    releaseDate: Math.max(FIRST_DAY, toWhole(record.releaseDate)),
    size: toWhole(record.size),
    version: toWhole(record.version),
    rating: Math.min(RATING_MAX, toWhole(record.rating)),
    rank: toWhole(record.rank)
  }
}

const SHOP_ID = /^70\d{12}$/
const PRODUCT_ID = /^0100[\dA-F]{12}$/
const IN_NAME = [/(?<!\d)70\d{12}(?!\d)/, /(?<![\da-f])0100[\da-f]{12}(?![\da-f])/i]

export const isShopId = (id: string): boolean => SHOP_ID.test(id)

/** Returns the shop id in a name, else the product id; null if the name has neither. */
export function titleIdIn (name: string): string | null {
  const found = IN_NAME.map((pattern) => pattern.exec(name)?.[0]).find((id) => id !== undefined)
  return found?.toUpperCase() ?? null
}

/** Returns the index entries of a database record: the title by its shop id, and the shop id by the product id. */
export function toIndexEntries (record: unknown): IndexEntry[] {
  if (typeof record !== 'object' || record === null) return []
  const title = toTitle({ ...record })
  const shopId = String('nsuId' in record ? record.nsuId : '')
  if (!isShopId(shopId)) return []
  const productId = title.id.toUpperCase()
  return PRODUCT_ID.test(productId) ? [[shopId, title], [productId, shopId]] : [[shopId, title]]
}
