import type { AppOptions } from '../core/app.ts'
import activity from './activity/index.ts'
import { ActivityEntry } from './activity/entities.ts'
import assets from './assets/index.ts'
import { Asset, AssetVersion, DeletedAccount, DeviceSync, SyncBase } from './assets/entities.ts'
import { romAssets } from './assets/rom-assets.ts'
import { requireOwnUploads } from './assets/stored-files.ts'
import auth from './auth/index.ts'
import { OneTimeToken, Session, Throttle } from './auth/entities.ts'
import audit from './audit/index.ts'
import { AuditEvent } from './audit/entities.ts'
import { backUpBeforeUpgrade } from './backup/before-upgrade.ts'
import backup from './backup/index.ts'
import channels from './channels/index.ts'
import { ChannelDelivery, NotificationChannel } from './channels/entities.ts'
import circuits from './circuits/index.ts'
import collections from './collections/index.ts'
import { Collection, CollectionRom, SmartCollection } from './collections/entities.ts'
import conversion from './conversion/index.ts'
import { RomConversion } from './conversion/entities.ts'
import deletion from './deletion/index.ts'
import devices from './devices/index.ts'
import { Device, DevicePresence } from './devices/entities.ts'
import exports from './exports/index.ts'
import feeds from './feeds/index.ts'
import firmware from './firmware/index.ts'
import { Firmware } from './firmware/entities.ts'
import heartbeat from './heartbeat/index.ts'
import { introduction } from './introduction.ts'
import installs from './installs/index.ts'
import { InstallRequest } from './installs/entities.ts'
import libraries from './libraries/index.ts'
import library from './library/index.ts'
import { Library, LibraryVersion } from './library/entities.ts'
import logs from './logs/index.ts'
import { LogLine } from './logs/entities.ts'
import mail from './mail/index.ts'
import metrics from './metrics/index.ts'
import { migrations } from './migrations.ts'
import music from './music/index.ts'
import { MusicFavorite, MusicPlaylist, MusicPlaylistTrack } from './music/entities.ts'
import netplay from './netplay/index.ts'
import { NetplayPlayer, NetplayRoom } from './netplay/entities.ts'
import notes from './notes/index.ts'
import { Note } from './notes/entities.ts'
import notifications from './notifications/index.ts'
import { Notification } from './notifications/entities.ts'
import oidc from './oidc/index.ts'
import patches from './patches/index.ts'
import permissions from './permissions/index.ts'
import { HiddenEntity, PermissionOverride } from './permissions/entities.ts'
import { PermissionGrant, PermissionGroup } from './permissions/group-entities.ts'
import platforms from './platforms/index.ts'
import { FormerPlatform, Platform, PlatformFolder } from './platforms/entities.ts'
import playSessions from './play-sessions/index.ts'
import { PlaySession } from './play-sessions/entities.ts'
import plugins from './plugins/index.ts'
import resources from './resources/index.ts'
import romFiles from './rom-files/index.ts'
import roms from './roms/index.ts'
import { FormerRom, Rom, RomFile, RomGame, RomMatch, RomRename, RomUser } from './roms/entities.ts'
import scans from './scans/index.ts'
import { CrashedFile } from './hashing/entities.ts'
import settings from './settings/index.ts'
import setup from './setup/index.ts'
import editing from './editing/index.ts'
import search from './search/index.ts'
import stats from './stats/index.ts'
import { LibraryCount } from './stats/entities.ts'
import serverSync from './server-sync/index.ts'
import streaming from './streaming/index.ts'
import { StreamingEnding, StreamingSession } from './streaming/entities.ts'
import sync from './sync/index.ts'
import { SyncSession } from './sync/entities.ts'
import { tags } from './tags.ts'
import tasks from './tasks/index.ts'
import { Task } from './tasks/entities.ts'
import tokens from './tokens/index.ts'
import { ClientToken, DeviceAuthorization, PairingCode } from './tokens/entities.ts'
import trash from './trash/index.ts'
import { TrashItem } from './trash/entities.ts'
import uploads from './uploads/index.ts'
import { RomUpload, RomUploadChunk } from './uploads/entities.ts'
import users from './users/index.ts'
import { ProviderAccount, User } from './users/entities.ts'
import watcher from './watcher/index.ts'
import web from './web/index.ts'

/** The server's features in the order they register. A new feature adds one line to each list. */
export const features: AppOptions['features'] = {
  entities: [
    PermissionGroup, PermissionGrant, PermissionOverride, HiddenEntity, User, Device, Session, OneTimeToken,
    Throttle, ClientToken, PairingCode, DeviceAuthorization, AuditEvent, Platform, PlatformFolder, FormerPlatform,
    Firmware, Rom, FormerRom, RomFile, RomGame, RomMatch, RomRename, RomUser, Task, Notification,
    NotificationChannel, ChannelDelivery, DevicePresence, InstallRequest, Asset, AssetVersion, DeletedAccount,
    DeviceSync, SyncBase, SyncSession, PlaySession, ActivityEntry, CrashedFile, ProviderAccount, Library,
    LibraryVersion, LibraryCount, Collection, CollectionRom, SmartCollection, Note, RomConversion, LogLine,
    RomUpload, RomUploadChunk, NetplayRoom, NetplayPlayer, StreamingSession, StreamingEnding, MusicPlaylist,
    MusicPlaylistTrack, MusicFavorite, TrashItem
  ],
  migrations,
  checks: [requireOwnUploads],
  beforeUpgrade: backUpBeforeUpgrade,
  tags,
  introduction,
  plugins: [
    metrics,
    library,
    logs,
    circuits,
    tasks,
    audit,
    permissions,
    mail,
    devices,
    resources,
    auth,
    users,
    oidc,
    tokens,
    platforms,
    roms(romAssets),
    collections,
    firmware,
    patches,
    feeds,
    setup,
    settings,
    libraries,
    editing,
    music,
    notes,
    search,
    heartbeat,
    channels,
    notifications,
    playSessions,
    stats,
    sync,
    assets,
    serverSync,
    activity,
    netplay,
    streaming,
    installs,
    scans,
    plugins,
    trash,
    romFiles,
    deletion,
    uploads,
    watcher,
    conversion,
    backup,
    exports,
    web
  ]
}
