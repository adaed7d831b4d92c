import type { Service } from '../service.ts'
import { apprise } from './apprise.ts'
import { bark } from './bark.ts'
import { discord } from './discord.ts'
import { form } from './form.ts'
import { googleChat } from './google-chat.ts'
import { gotify } from './gotify.ts'
import { homeAssistant } from './home-assistant.ts'
import { json } from './json.ts'
import { matrix } from './matrix.ts'
import { mattermost } from './mattermost.ts'
import { nextcloud } from './nextcloud.ts'
import { ntfy } from './ntfy.ts'
import { pushbullet } from './pushbullet.ts'
import { pushover } from './pushover.ts'
import { rocketchat } from './rocketchat.ts'
import { signal } from './signal.ts'
import { slack } from './slack.ts'
import { telegram } from './telegram.ts'
import { workflows } from './workflows.ts'
import { xml } from './xml.ts'
import { zulip } from './zulip.ts'

/** All services that work without the bridge. To add one, write its file and its line here. */
export const SERVICES: readonly Service[] = [
  apprise, bark, discord, form, googleChat, gotify, homeAssistant, json, matrix, mattermost, nextcloud, ntfy,
  pushbullet, pushover, rocketchat, signal, slack, telegram, workflows, xml, zulip
]
