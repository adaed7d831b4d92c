import { QueryOrder } from '@mikro-orm/core'
import { databaseDate } from '../../core/database/clock.ts'
import type { Db } from '../../core/database/db.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { User } from '../users/entities.ts'
import { lockUser } from '../users/rows.ts'
import { Device } from './entities.ts'
import { hasAllDevices } from './quota.ts'

/**
 * Patterns of browsers in a User-Agent. Most browsers also match patterns further down, which makes the order
 * important.
 */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\b(?:Edg|EdgA|EdgiOS)\/(\d{1,9})/],
  ['Opera', /\b(?:OPR|Opera)\/(\d{1,9})/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d{1,9})/],
  ['Vivaldi', /\bVivaldi\/(\d{1,9})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,9})/],
  ['Chrome', /\b(?:Chrome|CriOS|Chromium)\/(\d{1,9})/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//]
]
const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Windows', /\bWindows\b/], ['iPadOS', /\biPad\b/], ['iOS', /\biPhone\b|\biPod\b/], ['Android', /\bAndroid\b/],
  ['ChromeOS', /\bCrOS\b/], ['macOS', /\bMac OS X\b|\bMacintosh\b/], ['Linux', /\bLinux\b|\bX11\b/]
]
const PLATFORM = 'Web'
const ADDRESS_MAX = 45

/** Returns the name and major version of a browser, or of a program that identifies itself as `name/version`. */
function findProduct (userAgent: string): { product: string, version: string | null } {
  for (const [product, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1]
    if (version !== undefined) return { product, version }
  }
  const [, program, version] = /^([\w.-]{1,50})\/(\d{1,9})/.exec(userAgent) ?? []
  if (program === undefined || version === undefined || program === 'Mozilla') return { product: 'Browser', version: null }
  return { product: program, version }
}

/** Returns a browser's name, such as `Firefox on Linux`, and its major version, from its User-Agent. */
export function describeBrowser (userAgent: string): { name: string, version: string | null } {
  const { product, version } = findProduct(userAgent)
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  return { name: system === undefined ? product : `${product} on ${system}`, version }
}

interface BrowserVisit { userId: number, userAgent: string, address: string }

/**
 * Returns the device of a user's browser at an address; the first sign-in from there creates it. If the user has the
 * maximum number of devices, the browser that was unused for longest is replaced.
 *
 * @returns null if there is no free place and no such browser
 */
export async function findBrowserDevice (
  db: Db, { userId, userAgent, address }: BrowserVisit
): Promise<Device | null> {
  const ip = address.slice(0, ADDRESS_MAX)
  return await inTransaction(db, async (tx) => {
    // The lock serializes the sign-ins of a user, because two at once must not create two devices.
    await lockUser(tx, userId)
    const existing = await tx.em.findOne(Device, { user: userId, ip_address: ip, platform: PLATFORM }, { orderBy: { id: 'asc' } })
    if (existing !== null) {
      existing.last_seen = databaseDate()
      return existing
    }
    const { name, version } = describeBrowser(userAgent)
    const browser = { name, client_version: version, ip_address: ip, last_seen: databaseDate() }
    if (await hasAllDevices(tx, userId)) {
      const oldest = await tx.em.findOne(Device, { user: userId, platform: PLATFORM, client: 'web' }, {
        orderBy: { last_seen: QueryOrder.ASC_NULLS_FIRST, id: 'asc' }
      })
      return oldest === null ? null : tx.em.assign(oldest, browser)
    }
    const device = tx.em.create(Device, {
      ...browser, user: tx.em.getReference(User, userId), platform: PLATFORM, client: 'web', sync_mode: 'api'
    })
    await tx.em.persist(device).flush()
    return device
  })
}
