import { type FeatureList, composeFeatures } from '../core/features.ts'
import activity from './activity/feature.ts'
import assets from './assets/feature.ts'
import audit from './audit/feature.ts'
import auth from './auth/feature.ts'
import backup from './backup/feature.ts'
import channels from './channels/feature.ts'
import circuits from './circuits/feature.ts'
import collections from './collections/feature.ts'
import webConsole from './console/feature.ts'
import conversion from './conversion/feature.ts'
import dats from './dats/feature.ts'
import deletion from './deletion/feature.ts'
import devices from './devices/feature.ts'
import doctor from './doctor/feature.ts'
import editing from './editing/feature.ts'
import exports from './exports/feature.ts'
import feeds from './feeds/feature.ts'
import firmware from './firmware/feature.ts'
import hashing from './hashing/feature.ts'
import heartbeat from './heartbeat/feature.ts'
import imports from './imports/feature.ts'
import installs from './installs/feature.ts'
import libraries from './libraries/feature.ts'
import library from './library/feature.ts'
import logs from './logs/feature.ts'
import mail from './mail/feature.ts'
import metrics from './metrics/feature.ts'
import music from './music/feature.ts'
import netplay from './netplay/feature.ts'
import notes from './notes/feature.ts'
import notifications from './notifications/feature.ts'
import oidc from './oidc/feature.ts'
import patches from './patches/feature.ts'
import permissions from './permissions/feature.ts'
import platforms from './platforms/feature.ts'
import playSessions from './play-sessions/feature.ts'
import plugins from './plugins/feature.ts'
import resources from './resources/feature.ts'
import romFiles from './rom-files/feature.ts'
import roms from './roms/feature.ts'
import scans from './scans/feature.ts'
import search from './search/feature.ts'
import serverSync from './server-sync/feature.ts'
import settings from './settings/feature.ts'
import setup from './setup/feature.ts'
import stats from './stats/feature.ts'
import store from './store/feature.ts'
import streaming from './streaming/feature.ts'
import sync from './sync/feature.ts'
import tasks from './tasks/feature.ts'
import tokens from './tokens/feature.ts'
import trash from './trash/feature.ts'
import uploads from './uploads/feature.ts'
import users from './users/feature.ts'
import watcher from './watcher/feature.ts'
import web from './web/feature.ts'
import webdav from './webdav/feature.ts'

/** The server's features in the order in which the API document presents them. A new feature adds one line. */
export const featureList: FeatureList = {
  features: [
    heartbeat,
    auth,
    oidc,
    tokens,
    users,
    permissions,
    library,
    libraries,
    platforms,
    roms(async () => (await import('./assets/rom-assets.ts')).romAssets),
    romFiles,
    editing,
    search,
    music,
    collections,
    firmware,
    assets,
    devices,
    sync,
    serverSync,
    webdav,
    installs,
    activity,
    netplay,
    streaming,
    playSessions,
    notifications,
    channels,
    mail,
    scans,
    hashing,
    watcher,
    dats,
    exports,
    feeds,
    patches,
    uploads,
    deletion,
    conversion,
    resources,
    notes,
    tasks,
    trash,
    plugins,
    circuits,
    settings,
    setup,
    stats,
    audit,
    logs,
    metrics,
    backup,
    imports,
    store,
    doctor,
    webConsole,
    web
  ],
  loadMigrations: async () => (await import('./migrations.ts')).migrations,
  loadIntroduction: async () => (await import('./introduction.ts')).introduction
}

export const features = composeFeatures(featureList)
