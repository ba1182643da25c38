"""Hugging Face Trainer and Lightning, for real."""

import jobs


@jobs.full_only
class Transformers(jobs.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("torch2", "torch", "transformers", "accelerate")

    def test_a_trainer_marks_training_epochs_steps_evaluation_and_saving(self):
        result = self.run_job(
            """
            import torch
            from transformers import BertConfig, BertForSequenceClassification
            from transformers import Trainer, TrainerCallback, TrainingArguments
            torch.set_num_threads(1)
            config = BertConfig(vocab_size=32, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
                                intermediate_size=8, max_position_embeddings=8)
            data = [{"input_ids": [1, 2, 3], "labels": i % 2} for i in range(16)]
            class Own(TrainerCallback):
                steps = 0
                def on_step_end(self, *_, **__): Own.steps += 1
            own = [Own()]
            arguments = TrainingArguments("out", num_train_epochs=2, per_device_train_batch_size=2,
                gradient_accumulation_steps=2, eval_strategy="epoch", save_strategy="epoch", report_to=[],
                disable_tqdm=True, use_cpu=True, logging_strategy="no")
            trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=data,
                              eval_dataset=data, callbacks=own)
            trainer.train()
            print(Own.steps, len(own))
            """,
            python=self.python,
            HF_HUB_OFFLINE=1,
        )
        self.assertEqual(result.code, 0, result.err)
        self.assertIn("8 1", result.out)  # 16 / 2 / 2 steps an epoch, and the user's list as it was
        self.assertEqual([index for index, _, _ in result.iterations()], list(range(8)))
        self.assertEqual({mark.detail[1] for mark in result.of("iteration begin")}, {4})
        self.assertEqual([(m.id, m.detail[0]) for m in result.of("epoch begin")], [(0, 2), (1, 2)])
        self.assertEqual(len(result.of("epoch end")), 2)
        self.assertEqual(len(result.of("training begin")), 1)
        self.assertEqual(len(result.of("training end")), 1)
        self.assertEqual(len(result.phases("evaluation")), 2)
        self.assertEqual(len(result.phases("checkpoint")), 2)
        inside = [
            1
            for _, b, e in result.phases("evaluation")
            for _, ib, ie in result.iterations()
            if b < ie and e > ib
        ]
        self.assertFalse(inside)
        (told,) = result.of("model")
        self.assertEqual((told.name, told.detail[1:3]), ("BertForSequenceClassification", (2, 0)))
        self.assertGreater(told.detail[0], 500)
        self.assertTrue(any(mark.name.startswith("transformers ") for mark in result.of("hook")))

    def test_importing_transformers_does_not_import_its_trainer(self):
        program = (
            "import sys, transformers\nprint('transformers.trainer' in sys.modules, 'torch' in sys.modules)"
        )
        here = self.run_job(program, python=self.python)
        self.assertEqual(here.out, self.run_job(program, python=self.python, hooks=False).out)


LIGHTNING = """
    import logging, warnings
    warnings.simplefilter("ignore")
    logging.getLogger("NAME").setLevel(logging.ERROR)
    import torch
    import NAME as pl
    torch.set_num_threads(1)
    class Model(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)
        def training_step(self, batch, index): return self.layer(batch).sum()
        def validation_step(self, batch, index): self.log("loss", self.layer(batch).sum())
        def configure_optimizers(self): return torch.optim.SGD(self.parameters(), lr=0.01)
    own = []
    trainer = pl.Trainer(max_epochs=2, accumulate_grad_batches=ACCUMULATE, accelerator="cpu", logger=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir="out", callbacks=own)
    loader = torch.utils.data.DataLoader(torch.ones(12, 2), batch_size=2)
    trainer.fit(Model(), loader, loader)
    print(len(own), trainer.global_step)
    import pickle
    print([type(c).__name__ for c in pickle.loads(pickle.dumps(trainer.callbacks[:1]))])
"""


@jobs.full_only
class Lightning(jobs.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("torch2", "torch", "lightning", "pytorch_lightning")

    def fit(self, name, accumulate):
        text = LIGHTNING.replace("NAME", name).replace("ACCUMULATE", str(accumulate))
        result = self.run_job(text, python=self.python)
        self.assertEqual(result.code, 0, result.err)
        return result

    def check(self, result, steps, per_epoch):
        self.assertIn(f"0 {steps}\n['Callback']\n", result.out)
        self.assertEqual([index for index, _, _ in result.iterations()], list(range(steps)))
        self.assertEqual({mark.detail[1] for mark in result.of("iteration begin")}, {per_epoch})
        self.assertEqual([(m.id, m.detail[0]) for m in result.of("epoch begin")], [(0, 2), (1, 2)])
        self.assertEqual(len(result.of("training end")), 1)
        self.assertEqual(len(result.phases("evaluation")), 3)  # the sanity check is one
        self.assertEqual(len(result.phases("checkpoint")), 2)

    def test_a_trainer_marks_training_epochs_batches_evaluation_and_saving(self):
        self.check(self.fit("lightning", 1), 12, 6)

    def test_its_older_name_with_gradient_accumulation(self):
        self.check(self.fit("pytorch_lightning", 3), 4, 2)
