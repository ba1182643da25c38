// The constants GPOEO was published with (github.com/ruixueqingyang/GPOEO: its sampler, GetTrace and
// SpectrumAnalysis), by the step that uses them. None of them was chosen here. Seconds are plain numbers in
// this folder: the published formulas mix them with counts of samples.
#pragma once

#include <cstddef>

namespace rubato::progress::gpoeo {

// Sampler and measurement.
inline constexpr double kInterval = 0.1;      // s, its timer
inline constexpr double kFirstWindow = 25;    // s of trace before the first look
inline constexpr double kLeastWindow = 10;    // s, after a stable answer, or so many periods:
inline constexpr double kPeriodsAWindow = 3;  // the longer of the two counts
inline constexpr double kLeastWait = 4;       // s between two looks
inline constexpr double kLowestPeriod = 0.4;  // s; shorter ones are told as a multiple
inline constexpr double kHighestPeriod = 15;  // s, the upper bound at first
inline constexpr double kCoverage = 5.3;      // periods a decision needs
inline constexpr double kHardStop = 5.5;      // upper bounds of trace, then it gives up
inline constexpr double kShrinkBelow = 0.4;   // of the upper bound: it becomes
inline constexpr double kShrink = 0.75;       // so much of itself after a run
inline constexpr double kGrowBelow = 0.75;    // of the upper bound: it becomes
inline constexpr double kGrow = 1.2;          // so much of itself, at most the first one

// One estimate.
inline constexpr double kPeakShare = 0.60;  // of the strongest peak left
inline constexpr unsigned kMostCandidates = 6;
inline constexpr double kResolvable = 3;        // periods the trace must hold, or the spectrum is padded
inline constexpr double kMultipleStep = 0.2;    // of the longest short candidate
inline constexpr double kMultipleFit = 0.10;    // of each short candidate
inline constexpr double kMultipleReach = 1.3;   // times the first multiple found
inline constexpr double kMultipleSpread = 0.6;  // of the longest short candidate
inline constexpr int kRounds = 3;               // of refinement
inline constexpr double kBinReach = 0.7;        // bins to both sides
inline constexpr double kLeastReach = 0.15;     // of the period
inline constexpr double kFactorReach = 0.5;     // of the longest short candidate
inline constexpr double kSteps = 10;            // a range
inline constexpr double kShortestStep = 0.1;    // s
inline constexpr double kLongestStep = 1;       // s
inline constexpr double kMiddle = 0.60;         // of the range: a minimum there is final
inline constexpr double kPoolFrom = 1.7;        // reference period over period

// Groups in a window.
inline constexpr double kDense = 0.33;           // of the samples
inline constexpr double kDenseTolerance = 0.03;  // of the window's range
inline constexpr double kMergeSpread = 0.999;    // of the window's standard deviation
inline constexpr double kMergeShift = 0.03;      // of the run's mean
inline constexpr double kMergeGap = 0.04;        // of the run's mean
inline constexpr double kSmallGap = 0.04;        // of the window: the three limits double
inline constexpr double kWholeWindow = 0.85;     // covered by one run: its merges are undone

// Stability.
inline constexpr double kLongTrace = 3;  // upper bounds
inline constexpr double kLongTraceAsked = 3.1;
inline constexpr double kLongTraceSpread = 0.30;
inline constexpr double kTooLongSoFar = 2.1;  // upper bounds, where the answers still differ
inline constexpr double kSuffix = 2.8;        // periods the shortest suffix holds
inline constexpr double kStrict = 0.10;       // spread of the estimates
inline constexpr double kNormal = 0.15;
inline constexpr double kRelaxed = 0.30;
inline constexpr double kNearly = 0.05;       // above the threshold
inline constexpr double kEnough = 1.3;        // times the coverage of the longest estimate
inline constexpr double kSmallExtension = 5;  // s

// Flat traces.
inline constexpr double kFlatFrom = 0.4;  // spread of the estimates
inline constexpr unsigned kFlatEnds = 5;  // samples left out at both ends
inline constexpr unsigned kFlatWindows = 4;
inline constexpr std::size_t kFlatWindow = 80;  // samples: 8 s
inline constexpr double kFlatMeans = 0.04;
inline constexpr double kFlatSpread = 0.04;
inline constexpr double kFlatDeviation = 0.20;

}  // namespace rubato::progress::gpoeo
