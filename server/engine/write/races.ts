// Retries writes that lost a race against another writer.

const uniqueViolation = '23505';
const foreignKeyViolation = '23503';
const deadlock = '40P01';
const serializationFailure = '40001';

/** Two writers crossed each other, and nothing was written. */
export class RaceError extends Error {
  readonly code = serializationFailure;
}

/** Errors of a race between a read and the write. The loser can retry. */
function isRace(error: unknown): boolean {
  const { code } = error as { code?: string };
  return [uniqueViolation, foreignKeyViolation, deadlock, serializationFailure].includes(code ?? '');
}

const maxAttempts = 4;

/** Tries again after a race: the next look sees what the other did. */
export async function retryRaces<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isRace(error) || count === maxAttempts) throw error;
    }
  }
}
