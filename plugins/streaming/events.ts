import type { CORE_TIERS, Refusal, SessionTermination } from './schemas.ts'
import '../../core/sockets/sockets.ts'

/** Identifies the claim and machine of an event, because a page may still receive events of an earlier claim. */
interface EventContext { platform: string, container: string, claimed_at: string }

declare module '../../core/sockets/sockets.ts' {
  interface ServerEvents {
    'streaming:launch-phase': EventContext & { phase: string | null }
    'streaming:launch-ready': EventContext & {
      host: string, resume: boolean | null, core: string | null, core_tier: typeof CORE_TIERS[number] | null
    }
    'streaming:launch-failed': EventContext & { detail: string, refusals: Refusal[] | null, refusals_truncated: number }
    'streaming:session-ended': EventContext &
      Pick<SessionTermination, 'ended_by' | 'reason' | 'ended_at' | 'rom_id' | 'rom_name' | 'desktop'>
  }
}
