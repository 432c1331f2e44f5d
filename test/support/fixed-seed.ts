import fc from 'fast-check';

// The same examples in every run, so that a red run means a change. PROPERTY_SEED=$RANDOM npm test looks for new ones.
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1) });
