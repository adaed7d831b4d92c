import type { ProviderId } from '@svc/plugin-sdk'
import { type Fields, readFields, readInteger, readText, toFieldsList } from '@svc/plugin-sdk/readers'
import type { MultiplayerMode } from './metadata.ts'

export function toMultiplayerModes (value: unknown): MultiplayerMode[] {
  return toFieldsList(value).map((fields) => ({
    campaigncoop: fields.campaigncoop === true,
    dropin: fields.dropin === true,
    lancoop: fields.lancoop === true,
    offlinecoop: fields.offlinecoop === true,
    offlinecoopmax: readInteger(fields, 'offlinecoopmax') ?? 0,
    offlinemax: readInteger(fields, 'offlinemax') ?? 0,
    onlinecoop: fields.onlinecoop === true,
    onlinecoopmax: readInteger(fields, 'onlinecoopmax') ?? 0,
    onlinemax: readInteger(fields, 'onlinemax') ?? 0,
    splitscreen: fields.splitscreen === true,
    splitscreenonline: fields.splitscreenonline === true,
    platform: readPlatform(fields)
  }))
}

/** Returns `1` or `1-N`, from the modes of the given platforms; without platforms all modes count. */
export function countPlayers (modes: readonly MultiplayerMode[], platformIds?: readonly ProviderId[]): string {
  const relevant = platformIds === undefined
    ? modes
    : modes.filter(({ platform }) => platform !== null && platformIds.includes(platform.igdb_id))
  const playerCount = Math.max(1, ...relevant.map(countModePlayers))
  return playerCount === 1 ? '1' : `1-${playerCount}`
}

function countModePlayers (mode: MultiplayerMode): number {
  const isShared = mode.campaigncoop || mode.lancoop || mode.offlinecoop || mode.onlinecoop || mode.dropin
  return Math.max(isShared ? 2 : 1, mode.offlinecoopmax, mode.onlinecoopmax, mode.offlinemax, mode.onlinemax)
}

function readPlatform (fields: Fields): MultiplayerMode['platform'] {
  const platform = readFields(fields, 'platform')
  const id = platform && readInteger(platform, 'id')
  return platform === undefined || id === undefined ? null : { igdb_id: id, name: readText(platform, 'name') ?? '' }
}
